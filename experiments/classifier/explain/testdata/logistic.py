# a logistic model of 8 inputs; importance in bits by scikit-learn, 200 permutations
import numpy as np
from sklearn.inspection import permutation_importance
from sklearn.base import BaseEstimator, ClassifierMixin
rng=np.random.default_rng(7)
n=300
X=np.round(rng.normal(size=(n,8)),2)
X[:,7]=np.round(.7*X[:,0]+.7*X[:,7],2)
w=np.array([1.6,-1.1,.8,.5,.3,.15,0.,.4])
f=X@w+.6*X[:,1]*X[:,2]
y=(rng.uniform(size=n)<1/(1+np.exp(-f))).astype(int)
class M(BaseEstimator,ClassifierMixin):
    def fit(self,X,y): self.classes_=np.array([0,1]); return self
    def predict_proba(self,X):
        p=1/(1+np.exp(-(X@w+.6*X[:,1]*X[:,2]))); return np.c_[1-p,p]
m=M().fit(X,y)
def bits(e,X,y): return np.mean(np.log2(e.predict_proba(X)[np.arange(len(y)),y]))
r=permutation_importance(m,X,y,scoring=bits,n_repeats=200,random_state=1)
print([round(float(v),4) for v in r.importances_mean])
np.savetxt('logistic.csv',np.c_[X,y],fmt='%g',delimiter=',')
