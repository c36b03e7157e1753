import { learn, readSchema, schemaText, type Drift } from '../domain/capture/dataset-schema.ts'
import { parseStoredJson } from '../domain/json/json-text.ts'
import { task } from '../platform/heavy/task.ts'

/** A payload as JSON, and its time; null: it is too long. */
export type LearnedPayload = { readonly data: string | null; readonly at: number }
type Asked = { readonly schema: string; readonly payloads: readonly LearnedPayload[] }
/** A change, and the place of the payload that has it. */
export type FoundDrift = Drift & { readonly place: number }
type Learned = { readonly schema: string; readonly drifts: readonly FoundDrift[] }

/** Reads payloads into a schema, in the form in which it is stored. */
export const learnPayloads = task('schema.learn', ({ schema: text, payloads }: Asked): Learned => {
  const schema = readSchema(text)
  const drifts = payloads.flatMap(({ data, at }, place): FoundDrift[] => {
    const parsed = data === null ? undefined : parseStoredJson(data)
    if (parsed?.ok !== true) return []
    return learn(schema, { payload: parsed.value, at }).map((drift) => ({ ...drift, place }))
  })
  return { schema: schemaText(schema), drifts }
})
