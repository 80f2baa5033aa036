# An image that has the program for Linux, linked statically, and nothing else:
#   docker build --tag gpc-tune .
FROM scratch
ARG PROGRAM=gpc-tune
COPY ["${PROGRAM}", "/gpc-tune"]
USER 65532:65532
ENTRYPOINT ["/gpc-tune"]
