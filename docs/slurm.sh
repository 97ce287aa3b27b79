#!/bin/bash
#SBATCH --job-name=minimex
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
#SBATCH --time=04:00:00
#SBATCH --signal=B:TERM@120
#SBATCH --requeue
#SBATCH --open-mode=append
# A sweep as a Slurm job: sbatch docs/slurm.sh experiment=NAME out=DIR
#
# A Ray cluster lives as long as the job, a node a machine, with a token of its own. Two minutes before the time limit (or when the
# job is preempted, with PreemptParameters=send_user_signal; or on `scancel --batch --signal=TERM JOB`) minimex publishes what is done
# and exits with 130; the job then goes back into the queue and the same command goes on.
set -u

head=$(hostname)
address=${HEAD_ADDRESS:-$(hostname --ip-address | cut -d' ' -f1)}
port=$((20000 + SLURM_JOB_ID % 20000))
export RAY_AUTH_MODE=token RAY_USAGE_STATS_ENABLED=0
RAY_AUTH_TOKEN=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
export RAY_AUTH_TOKEN

once() { srun --overlap --nodes="$1" --ntasks="$1" "${@:2}"; }
once 1 --nodelist="$head" ray start --head --node-ip-address="$address" --port="$port" \
    --num-cpus="$SLURM_CPUS_PER_TASK" --include-dashboard=false --disable-usage-stats --block &
until (exec 3<> "/dev/tcp/$address/$port") 2> /dev/null; do sleep 1; done
if ((SLURM_NNODES > 1)); then
    once $((SLURM_NNODES - 1)) --exclude="$head" ray start --address="$address:$port" \
        --num-cpus="$SLURM_CPUS_PER_TASK" --block &
fi
sleep "${SETTLE_S:-20}" # nodes that come later are used, too

minimex "$@" compute=cluster compute.address="$address:$port" &
driver=$!
trap 'kill -TERM "$driver"' TERM
wait "$driver"
status=$?
while kill -0 "$driver" 2> /dev/null; do # a signal ended the waiting, not the command
    wait "$driver"
    status=$?
done
((status == 130)) && scontrol requeue "$SLURM_JOB_ID"
exit "$status"
