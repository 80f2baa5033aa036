package columns

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// headers lists the headers of public tables and of exports: the label's name, and the columns with
// their contents.
//
//	i row numbers, t different texts, n numbers, c counts, k 3 to 6 whole numbers, b 0 and 1, y no and yes, s 4 texts,
//	u 2 texts, v good and bad, q M and F, d dates
const headers = `
Species|Sepal.Length:n Sepal.Width:n Petal.Length:n Petal.Width:n Species:s
species|species:s island:s bill_length_mm:n bill_depth_mm:n flipper_length_mm:n body_mass_g:n sex:q year:k
species|rowid:i species:s island:s bill_length_mm:n bill_depth_mm:n flipper_length_mm:n body_mass_g:n sex:q year:k
deny|rownames:i deny:y pirat:n hirat:n lvrat:n chist:k mhist:k phist:y unemp:n selfemp:y insurance:y condomin:y afam:y single:y hschool:y
participation|rownames:i participation:y income:n age:n education:c youngkids:k oldkids:k foreign:y
low|rownames:i low:b age:c lwt:c race:k smoke:b ptl:k ht:b ui:b ftv:k bwt:n
Survived|PassengerId:i Survived:b Pclass:k Name:t Sex:u Age:c SibSp:k Parch:k Ticket:t Fare:n Cabin:s Embarked:s
survived|survived:b pclass:k sex:u age:c sibsp:k parch:k fare:n embarked:s class:s who:s adult_male:y deck:s embark_town:s alone:y
Survived|:i Name:t PClass:s Age:c Sex:u Survived:b SexCode:b
Attrition|Age:c Attrition:y BusinessTravel:s DailyRate:c Department:s DistanceFromHome:c Education:k EducationField:s Gender:u JobRole:s MaritalStatus:s MonthlyIncome:c OverTime:y
Churn|customerID:t gender:u SeniorCitizen:b Partner:y Dependents:y tenure:c PhoneService:y Contract:s MonthlyCharges:n TotalCharges:n Churn:y
Churn?|State:s Account_Length:c Area_Code:k Intl_Plan:y VMail_Plan:y Day_Mins:n Day_Calls:c Churn?:y
class|class:u cap-shape:s cap-surface:s cap-color:s bruises:u odor:s habitat:s
Class|Class:v V1:y V2:y V3:y V4:y V5:y V6:y
type|hair:b feathers:b eggs:b milk:b airborne:b legs:k tail:b type:s
type|:i make:n address:n all:n num3d:n our:n over:n type:u
Class|Time:n V1:n V2:n V3:n V4:n Amount:n Class:b
target|age:c sex:b cp:k trestbps:c chol:c fbs:b restecg:k thalach:c exang:b oldpeak:n slope:k ca:k thal:k target:b
HeartDisease|Age:c Sex:q ChestPainType:s RestingBP:c Cholesterol:c FastingBS:b RestingECG:s MaxHR:c ExerciseAngina:u Oldpeak:n ST_Slope:s HeartDisease:b
DEATH_EVENT|age:c anaemia:b creatinine_phosphokinase:c diabetes:b ejection_fraction:c high_blood_pressure:b platelets:n sex:b smoking:b time:c DEATH_EVENT:b
stroke|id:t gender:u age:c hypertension:b heart_disease:b ever_married:y work_type:s avg_glucose_level:n bmi:n smoking_status:s stroke:b
diagnosis|id:t diagnosis:u radius_mean:n texture_mean:n perimeter_mean:n area_mean:n
Outcome|Pregnancies:k Glucose:c BloodPressure:c SkinThickness:c Insulin:c BMI:n DiabetesPedigreeFunction:n Age:c Outcome:b
quality|fixed acidity:n volatile acidity:n citric acid:n pH:n alcohol:n quality:k
y|age:c job:s marital:s education:s default:y balance:c housing:y loan:y contact:s day:c month:s duration:c campaign:k poutcome:s y:y
income|age:c workclass:s fnlwgt:c education:s marital-status:s occupation:s relationship:s race:s sex:u hours-per-week:c native-country:s income:u
Loan_Status|Loan_ID:t Gender:u Married:y Dependents:k Education:u Self_Employed:y ApplicantIncome:c LoanAmount:c Credit_History:b Property_Area:s Loan_Status:u
default.payment.next.month|ID:i LIMIT_BAL:c SEX:u EDUCATION:k MARRIAGE:k AGE:c PAY_0:k BILL_AMT1:c PAY_AMT1:c default.payment.next.month:b
is_canceled|hotel:u is_canceled:b lead_time:c arrival_date_month:s adults:k meal:s market_segment:s deposit_type:s adr:n
Kyphosis|rownames:i Kyphosis:y Age:c Number:k Start:c
left|satisfaction_level:n last_evaluation:n number_project:k average_montly_hours:c Work_accident:b left:b promotion_last_5years:b sales:s salary:s
Class|Id:i Cl.thickness:k Cell.size:k Cell.shape:k Marg.adhesion:k Epith.c.size:k Bare.nuclei:k Class:u
variety|sepal.length:n sepal.width:n petal.length:n petal.width:n variety:s
Potability|ph:n Hardness:n Solids:n Chloramines:n Sulfate:n Potability:b
medv|crim:n zn:n indus:n nox:n rm:n age:n dis:n lstat:n medv:n
charges|age:c bmi:n children:k bloodsugar:n steps:c charges:n
class|sepal_length:n sepal_width:n petal_length:n class:s
Credit|Duration:c Amount:c Age:c InstallmentRate:k Job:s Housing:s Credit:v
Purchased|User ID:t Gender:u Age:c EstimatedSalary:c Purchased:b
Exited|RowNumber:i CustomerId:t Surname:t CreditScore:c Geography:s Gender:u Age:c Tenure:k Balance:n NumOfProducts:k HasCrCard:b IsActiveMember:b EstimatedSalary:n Exited:b
isFraud|step:c type:s amount:n nameOrig:t oldbalanceOrg:n newbalanceOrig:n isFraud:b
fraud_reported|months_as_customer:c age:c policy_state:s policy_deductable:k insured_sex:u incident_type:s fraud_reported:u
spam|length:c links:k caps:n exclamations:k spam:b
sentiment|words:c length:n polarity:n sentiment:u
defects|loc:c vg:k evg:k ivg:k n:c v:n defects:y
hired|gender:u experience:k score:n referral:y hired:y
admit|gre:c gpa:n rank:k admit:b
case|rownames:i education:s age:c parity:k induced:k case:b spontaneous:k stratum:c
Diagnose|Alter:c Geschlecht:q Gewicht:n Blutdruck:c Raucher:y Diagnose:s
Kündigung|Kundennummer:t Tarif:s Laufzeit:c Umsatz:n Region:s Kündigung:y
überlebt|Nr:i überlebt:b Klasse:k Geschlecht:q Alter:c Preis:n
Zielvariable|A:n B:n C:n Zielvariable:u
Ergebnis|Messung1:n Messung2:n Temperatur:n Maschine:s Ergebnis:u
Klasse|Laenge:n Breite:n Hoehe:n Klasse:s
diagnostic|age:c sexe:q tension:c fumeur:u diagnostic:s
survécu|id:i survécu:b classe:k sexe:q age:c prix:n
espèce|longueur:n largeur:n masse:n espèce:s
résilié|client:t forfait:s anciennete:c montant:n résilié:y
classe|v1:n v2:n v3:n classe:u
cible|x1:n x2:n x3:n cible:b
diagnóstico|edad:c sexo:q presion:c fumador:u diagnóstico:s
sobrevivió|pasajero:i sobrevivió:b clase:k sexo:q edad:c tarifa:n
fuga_abandono|cliente:t plan:s antiguedad:c consumo:n fuga_abandono:b
especie|largo:n ancho:n masa:n especie:s
clase|a1:n a2:n a3:n clase:s
diagnosi|eta:c sesso:q pressione:c fumatore:u diagnosi:s
esito|misura1:n misura2:n temperatura:n esito:u
specie|lunghezza:n larghezza:n specie:s
abbandono|cliente:t piano:s durata:c spesa:n abbandono:b
diagnóstico|idade:c sexo:q pressao:c fumante:u diagnóstico:s
sobreviveu|passageiro:i sobreviveu:b classe:k sexo:q idade:c
inadimplente|renda:n idade:c estado_civil:s divida:n inadimplente:b
desfecho|dose:n tempo:c peso:n desfecho:u
uitkomst|leeftijd:c geslacht:q bloeddruk:c uitkomst:u
opgezegd|klantnummer:t abonnement:s maanden:c bedrag:n opgezegd:b
soort|lengte:n breedte:n soort:s
diagnoza|wiek:c plec:q cisnienie:c palacy:u diagnoza:s
gatunek|dlugosc:n szerokosc:n gatunek:s
rezygnacja|klient:t taryfa:s staz:c kwota:n rezygnacja:b
utfall|alder:c kön:q blodtryck:c utfall:u
art|langd:n bredd:n vikt:n art:s
диагноз|возраст:c пол:q давление:c диагноз:s
класс|x1:n x2:n x3:n класс:s
标签|特征1:n 特征2:n 特征3:n 标签:b
outcome|record_id:i age:c sex:u sbp:c dbp:c smoker:y outcome:u
response|ResponseId:t Q1:k Q2:k Q3:k Q4:s response:u
target_name|Unnamed: 0:i f0:n f1:n f2:n target_name:s
label|index:i f0:n f1:n f2:n label:s
churn_flag|customer_id:t signup_date:d plan_type:s monthly_fee:n support_tickets:k churn_flag:b
is_active_churned|account_id:t created_at:d region:s seats:c mrr:n is_active_churned:b
loan_default|application_id:t issue_date:d state:s grade:s int_rate:n dti:n prior_defaults:k loan_default:b
readmitted|encounter_id:t race:s gender:u age:c time_in_hospital:k num_medications:c readmitted:s
Revenue|Administrative:k Informational:k ProductRelated:c BounceRates:n ExitRates:n Month:s VisitorType:s Weekend:y Revenue:y
vote|rownames:i vote:s age:c economic.cond.national:k economic.cond.household:k Europe:k political.knowledge:k gender:u
mortality_30d|patient_age:c sex:u apache:c ventilated:y mortality_30d:b
relapse|age:c sex:u stage:k margin:y nodes:k relapse:y
Response|rownames:i Treatment:u Dose:k Weight:n Response:v
result|a:n b:n c:n d:n result:v
machine_failure|UDI:i ProductID:t Type:s AirTemp:n ProcessTemp:n Speed:c Torque:n ToolWear:c machine_failure:b
Activity|accx:n accy:n accz:n gyrox:n gyroy:n gyroz:n Activity:s
price_range|battery_power:c blue:b clock_speed:n dual_sim:b fc:k four_g:b ram:c price_range:k
NObeyesdad|Gender:u Age:c Height:n Weight:n family_history:y FAVC:y SMOKE:y MTRANS:s NObeyesdad:s
satisfaction|Gender:u Customer Type:u Age:c Type of Travel:u Class:s Flight Distance:c Inflight wifi service:k Seat comfort:k satisfaction:u
Status|patient:t time:c age:c sex:q ph.ecog:k Status:b
grade|studytime:k failures:k absences:c g1:c g2:c grade:u
wine|alcohol:n malic:n ash:n flavanoids:n hue:n proline:c wine:s
Type|RI:n Na:n Mg:n Al:n Si:n K:n Ca:n Ba:n Fe:n Type:s
won|team:s opponent:s home:y points:c rebounds:c won:b
winner|white_rating:c black_rating:c turns:c opening:s winner:u
cured|dose:n days:c age:c sex:q cured:y
toxic|logP:n weight:n donors:k acceptors:k toxic:b
disease|age:c bp:c sg:k al:k su:k rbc:u disease:u
converted|session:t source:s pages:c minutes:n converted:b
clicked|ad:s hour:k device:s age:c clicked:b
approved|income:c employment:s score:c amount:n approved:y
passed|hours:n attendance:n previous_score:c passed:b
pass_fail|s1:n s2:n s3:n s4:n pass_fail:u
anomaly|timestamp:d cpu:n mem:n io:n anomaly:b
fetal_health|baseline:c accelerations:n movement:n variability:n fetal_health:k
`

// table writes a table with a header of headers.
func table(t *testing.T, columns []string) string {
	rng := rand.New(rand.NewPCG(1, uint64(len(columns))))
	var names []string
	rows := make([][]string, 300)
	for j, c := range columns {
		at := strings.LastIndex(c, ":")
		names = append(names, c[:at])
		pick := func(words ...string) string { return words[rng.IntN(len(words))] }
		for i := range rows {
			v := ""
			switch kind := c[at+1:]; kind {
			case "i":
				v = fmt.Sprint(i + 1)
			case "t":
				v = fmt.Sprintf("T%04d-%c%d", 7*i%1000, 'A'+rune(j%26), i)
			case "n":
				v = fmt.Sprintf("%.3f", 10*rng.NormFloat64())
			case "c":
				v = fmt.Sprint(18 + rng.IntN(60))
			case "k":
				v = fmt.Sprint(1 + rng.IntN(5))
			case "b":
				v = pick("0", "1")
			case "y":
				v = pick("no", "yes")
			case "s":
				v = pick("red", "green", "blue", "white")
			case "u":
				v = pick("first", "second")
			case "v":
				v = pick("good", "bad")
			case "q":
				v = pick("M", "F")
			case "d":
				v = fmt.Sprintf("2024-%02d-%02d", 1+rng.IntN(12), 1+rng.IntN(28))
			default:
				t.Fatal(kind)
			}
			rows[i] = append(rows[i], v)
		}
	}
	var text strings.Builder
	for _, row := range append([][]string{names}, rows...) {
		fmt.Fprintln(&text, `"`+strings.Join(row, `","`)+`"`)
	}
	path := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLabelIsRightOrAsked: three in four labels are found, and hardly one is wrong.
func TestLabelIsRightOrAsked(t *testing.T) {
	right, asked, wrong := 0, 0, 0
	for line := range strings.Lines(strings.TrimPrefix(headers, "\n")) {
		want, columns, _ := strings.Cut(strings.TrimSpace(line), "|")
		// Names may have blanks and colons: every column ends with ":" and a letter.
		var list []string
		rest := columns
		for rest != "" {
			at := strings.Index(rest, ":")
			for at+2 < len(rest) && rest[at+2] != ' ' {
				at += 1 + strings.Index(rest[at+1:], ":")
			}
			list = append(list, rest[:at+2])
			rest = strings.TrimPrefix(rest[at+2:], " ")
		}
		got, err := Read(table(t, list), "")
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		var unclear *UnclearLabel
		switch name := got.Naming(got.Label); {
		case errors.As(got.Clear(), &unclear):
			asked++
			t.Logf("asked for %s: %v", want, unclear)
		case name == want:
			right++
		default:
			wrong++
			t.Logf("%s instead of %s: %+v", name, want, got.Candidates)
		}
	}
	n := right + asked + wrong
	t.Logf("of %d: %d right, %d asked, %d wrong", n, right, asked, wrong)
	if 4*right < 3*n || 50*wrong > n {
		t.Errorf("of %d headers %d right and %d wrong", n, right, wrong)
	}
}

// A column of two values with the name of a label, at any place, precedes numbers with such a name.
// Numbers at the end that have the name of a label remain a question, and dates as numbers of days
// are no label.
func TestTwoValuesBeforeNumbers(t *testing.T) {
	for _, c := range []struct{ want, columns string }{
		{"outcome", "patient_no:t approved:c age:n outcome:u code:b"},
		{"outcome", "outcome:y approved:c age:n code:b"},
		{"krank", "krank:y blutdruck:n gewicht:n besuch:d region:s"},
		{"", "age:n other:y outcome:u third:n approved:c"},
		{"", "first:u age:n second:s"},
	} {
		got, err := Read(table(t, strings.Fields(c.columns)), "")
		if err != nil {
			t.Fatal(err)
		}
		name := got.Naming(got.Label)
		if got.Clear() != nil {
			name = ""
		}
		if name != c.want {
			t.Errorf("%s: label %q, want %q; %+v", c.columns, name, c.want, got.Candidates)
		}
	}
	path := file(t, rows(60, "admitted,age,group,outcome,code", func(i int) string {
		return fmt.Sprintf("%d,%d.5,%s,%s,%d", 44927+11*i, 20+i, "ab"[i%2:i%2+1], []string{"alive", "died", "died"}[i%3], i/5%2)
	}))
	got, err := Read(path, "")
	if err != nil || got.Clear() != nil || got.Naming(got.Label) != "outcome" ||
		slices.ContainsFunc(got.Candidates, func(c Candidate) bool { return c.Column == "admitted" }) {
		t.Errorf("%v, %v, %+v", err, got.Clear(), got.Candidates)
	}
}
