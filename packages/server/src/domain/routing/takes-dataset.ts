import { SYSTEM_DATASET } from '@postroad/contract/plain'

/**
 * Whether a destination with these datasets takes the records of one. null: every dataset of the project. The events of Postroad itself
 * are in none of these, so a destination gets them only when it names their dataset.
 */
export function takesDataset(datasets: ReadonlySet<string> | readonly string[] | null, dataset: string): boolean {
  if (datasets === null) return dataset !== SYSTEM_DATASET
  return 'has' in datasets ? datasets.has(dataset) : datasets.includes(dataset)
}
