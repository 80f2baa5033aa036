#!/bin/sh
# Start a Slurm of one node, this machine, in a folder of its own, as root, without systemd, cgroups or accounting:
#
#	start.sh FOLDER PORT [TASKS]      munged, slurmctld at PORT, slurmd at PORT+1; TASKS (4) at a time
#	start.sh FOLDER                   what is not running of these, in a folder that has them
#
# and wait until it answers. Clients find it by SLURM_CONF=FOLDER/slurm.conf; the daemons' process ids are in FOLDER/*.pid. What is
# needed is in Debian's packages slurm-wlm and munge.
set -eu
mkdir -p "$1"
cd "$1"
folder=$(pwd)
host=$(hostname -s)
export SLURM_CONF="$folder/slurm.conf"

if [ $# -gt 1 ]; then
	mkdir -p "$folder/state" "$folder/spool" "$folder/munge"
	chmod 755 "$folder" "$folder/munge"
	dd if=/dev/urandom of="$folder/munge/key" bs=128 count=1 2>/dev/null
	chmod 400 "$folder/munge/key"
	cat > "$SLURM_CONF" <<-CONF
		ClusterName=test
		SlurmctldHost=$host(127.0.0.1)
		SlurmctldPort=$2
		SlurmdPort=$(($2 + 1))
		SlurmUser=root
		SlurmdUser=root
		AuthType=auth/munge
		AuthInfo=socket=$folder/munge/socket,cred_expire=5
		CredType=cred/munge
		StateSaveLocation=$folder/state
		SlurmdSpoolDir=$folder/spool
		SlurmctldPidFile=$folder/slurmctld.pid
		SlurmdPidFile=$folder/slurmd.pid
		SlurmctldLogFile=$folder/slurmctld.log
		SlurmdLogFile=$folder/slurmd.log
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_CPU
		JobAcctGatherType=jobacct_gather/none
		AccountingStorageType=accounting_storage/none
		SwitchType=switch/none
		MpiDefault=none
		ReturnToService=2
		MaxArraySize=6
		KillWait=10
		JobRequeue=1
		SlurmdParameters=config_overrides
		SchedulerParameters=sched_min_interval=100000,sched_interval=1,bf_interval=1,batch_sched_delay=0,build_queue_timeout=100000
		NodeName=$host NodeAddr=127.0.0.1 CPUs=${3:-4} RealMemory=$(awk '/^MemTotal/ {print int($2 / 1024)}' /proc/meminfo) State=UNKNOWN
		PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP
	CONF
	munged --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" --pid-file="$folder/munged.pid" \
		--log-file="$folder/munged.log" --seed-file="$folder/munge/seed"
fi
# A process that is gone has no program, also if nobody has asked how it ended.
running() {
	[ -e "/proc/$(cat "$1.pid" 2>/dev/null)/exe" ]
}
running slurmctld || slurmctld
for i in $(seq 100); do
	scontrol ping 2>/dev/null | grep -q 'is UP' && break
	sleep 0.1
done
running slurmd || slurmd -c -N "$host"
for i in $(seq 100); do
	sinfo -h -o %T 2>/dev/null | grep -qE '^(idle|mixed|allocated)$' && exit 0
	sleep 0.1
done
echo "Slurm does not answer:" >&2
tail -n 20 "$folder/slurmctld.log" "$folder/slurmd.log" >&2
exit 1
