/** The dataset of the events that Postroad makes itself, such as alerts. Nothing else can write to it. */
export const SYSTEM_DATASET = 'postroad'
/** Why a setting or a request cannot name it. */
export const SYSTEM_DATASET_RULE = `cannot be "${SYSTEM_DATASET}", because only Postroad files events there. Choose another name`
