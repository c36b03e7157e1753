import { curlCommand, type ShellPart } from '@postroad/contract/quoting'

type Reading = { readonly key: ShellPart; readonly dataset: string }

/** Programs that read the records of a dataset with a key. The key is shown only once, so later it is a variable. */
export function readingOf({ key, dataset }: Reading): Readonly<Record<string, string>> {
  const headers = { Authorization: ['Bearer ', key] }
  const at = `${location.origin}/v1/data/${dataset}`
  const curl = (query: string, options: readonly string[] = []): string =>
    curlCommand({ url: `${at}${query}`, headers, options })
  return {
    JSON: curl('?limit=10'),
    'With a filter': curl('?f=total:gt:1000'),
    Sorted: curl('?format=ndjson&order=asc', ['-i']),
    CSV: curl('?format=csv', ['-o', `${dataset}.csv`]),
    Parquet: curl('?format=parquet', ['-o', `${dataset}.parquet`]),
    Datasets: curlCommand({ url: `${location.origin}/v1/data`, headers }),
  }
}
