#include "agent/host/identity_rules.h"

#include <array>

namespace l4::host {
namespace {

// The rows of a field are tried in order: the first that applies wins.
constexpr std::array kNumberRules{
    // A launcher of torch sets RANK for each process that it starts. Without LOCAL_RANK it may be
    // Kubeflow's, which numbers pods, so the process managers of MPI and others come before that.
    NumberRule{Field::rank, "RANK", "TORCHELASTIC_RUN_ID", "", "WORLD_SIZE"},
    NumberRule{Field::rank, "RANK", "LOCAL_RANK", "", "WORLD_SIZE"},
    NumberRule{Field::rank, "OMPI_COMM_WORLD_RANK", "", "", "OMPI_COMM_WORLD_SIZE"},
    NumberRule{Field::rank, "MV2_COMM_WORLD_RANK", "", "", "MV2_COMM_WORLD_SIZE"},
    NumberRule{Field::rank, "PMI_RANK", "", "", "PMI_SIZE"},
    NumberRule{Field::rank, "PMIX_RANK", "", "", "SLURM_STEP_NUM_TASKS"},
    NumberRule{Field::rank, "HOROVOD_RANK", "", "", "HOROVOD_SIZE"},
    NumberRule{Field::rank, "RANK_ID", "", "", "RANK_SIZE"},
    NumberRule{Field::rank, "MS_NODE_ID", "MS_ROLE", "MS_WORKER", "MS_WORKER_NUM"},
    NumberRule{Field::rank, "PADDLE_TRAINER_ID", "", "", "PADDLE_TRAINERS_NUM"},
    NumberRule{Field::rank, "RANK", "", "", "WORLD_SIZE"},
    // A batch script has a SLURM_PROCID of 0 and no step.
    NumberRule{Field::rank, "SLURM_PROCID", "SLURM_STEP_ID", "", "SLURM_STEP_NUM_TASKS"},

    NumberRule{Field::local_rank, "LOCAL_RANK"},
    NumberRule{Field::local_rank, "OMPI_COMM_WORLD_LOCAL_RANK"},
    NumberRule{Field::local_rank, "MV2_COMM_WORLD_LOCAL_RANK"},
    NumberRule{Field::local_rank, "MPI_LOCALRANKID"},
    NumberRule{Field::local_rank, "HOROVOD_LOCAL_RANK"},
    NumberRule{Field::local_rank, "DEVICE_ID", "RANK_ID"},
    NumberRule{Field::local_rank, "PADDLE_RANK_IN_NODE"},
    NumberRule{Field::local_rank, "SLURM_LOCALID", "SLURM_STEP_ID"},

    NumberRule{Field::world_size, "WORLD_SIZE"},
    NumberRule{Field::world_size, "OMPI_COMM_WORLD_SIZE"},
    NumberRule{Field::world_size, "MV2_COMM_WORLD_SIZE"},
    NumberRule{Field::world_size, "PMI_SIZE"},
    NumberRule{Field::world_size, "HOROVOD_SIZE"},
    NumberRule{Field::world_size, "RANK_SIZE"},
    NumberRule{Field::world_size, "MS_WORKER_NUM"},
    NumberRule{Field::world_size, "PADDLE_TRAINERS_NUM"},
    NumberRule{Field::world_size, "SLURM_STEP_NUM_TASKS"},
    NumberRule{Field::world_size, "SLURM_NTASKS", "SLURM_STEP_ID"},

    NumberRule{Field::local_world_size, "LOCAL_WORLD_SIZE"},
    NumberRule{Field::local_world_size, "OMPI_COMM_WORLD_LOCAL_SIZE"},
    NumberRule{Field::local_world_size, "MV2_COMM_WORLD_LOCAL_SIZE"},
    NumberRule{Field::local_world_size, "MPI_LOCALNRANKS"},
    NumberRule{Field::local_world_size, "HOROVOD_LOCAL_SIZE"},
    NumberRule{Field::local_world_size, "LOCAL_SIZE"},
    NumberRule{Field::local_world_size, "PET_NPROC_PER_NODE"},

    NumberRule{Field::node_rank, "GROUP_RANK"},
    NumberRule{Field::node_rank, "NODE_RANK"},
    NumberRule{Field::node_rank, "PET_NODE_RANK"},
    NumberRule{Field::node_rank, "JOB_COMPLETION_INDEX"},
    NumberRule{Field::node_rank, "VC_TASK_INDEX"},
    NumberRule{Field::node_rank, "VK_TASK_INDEX"},
    NumberRule{Field::node_rank, "SLURM_NODEID", "SLURM_STEP_ID"},

    NumberRule{Field::restart, "TORCHELASTIC_RESTART_COUNT"},
    NumberRule{Field::requeue, "SLURM_RESTART_COUNT"},
    NumberRule{Field::step, "SLURM_STEP_ID"},
};

// The scheduler's name of a job comes before the name of a pod (identity.cc), and that before a
// launcher's name of the rendezvous.
constexpr std::array kJobRules{
    JobRule{"SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID"},
    JobRule{"SLURM_HET_JOB_ID"},
    JobRule{"SLURM_PACK_JOB_ID"},
    JobRule{"SLURM_JOB_ID"},
    JobRule{"LSB_JOBID"},
    JobRule{"PBS_JOBID"},
    JobRule{"HOSTNAME"},
    JobRule{"TORCHELASTIC_RUN_ID"},
    JobRule{"PET_RDZV_ID"},
    JobRule{"PADDLE_JOB_ID"},
    JobRule{"RAY_JOB_ID"},
};

}  // namespace

std::span<const NumberRule> number_rules() {
  return kNumberRules;
}

std::span<const JobRule> job_rules() {
  return kJobRules;
}

}  // namespace l4::host
