import type { Acceptance } from '../types.ts'

type StoredAnswer = Pick<Acceptance, 'dataset' | 'records' | 'routed'>

/** The content of the first answer besides the submission's id and time, as it is stored with its key. */
export function storedAnswer({ dataset, records, routed }: Acceptance): string {
  const kept: StoredAnswer = {
    dataset,
    records: records.map((record) => ({ id: record.id, dataset: record.dataset })),
    routed,
  }
  return JSON.stringify(kept)
}

/** Rebuilds the first answer. */
export function firstAnswer(row: {
  readonly submission_id: string
  readonly received_at: Date
  readonly answer: string
}): Acceptance {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by storedAnswer only
  const { dataset, records, routed } = JSON.parse(row.answer) as StoredAnswer
  return { submissionId: row.submission_id, receivedAt: row.received_at.getTime(), dataset, records, routed }
}
