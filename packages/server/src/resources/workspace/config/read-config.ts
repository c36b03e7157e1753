import type { Ctx } from '../../../context.ts'
import { parseStoredJson, stringifyJson } from '../../../domain/json/json-text.ts'
import { refuse } from '../../../domain/refusal.ts'
import { readConfigText, type ReadConfig } from '../../../tasks/read-config.ts'

export type { ReadConfig } from '../../../tasks/read-config.ts'

/** A character of a configuration costs about this many: its schemas check each value. */
const CHAR_WORK = 16

/** Reads a configuration, or refuses it with the place of the fault. It may be as long as a request. */
export async function readConfig({ heavy, workspaceId }: Ctx, sent: unknown): Promise<ReadConfig> {
  const text = stringifyJson(sent)
  const read = await heavy.run(readConfigText, { workspaceId, input: text, work: CHAR_WORK * text.length })
  if ('refused' in read) throw refuse('invalid_request', read.refused)
  const config = parseStoredJson(read.config)
  if (!config.ok) throw new Error(`A configuration was not read back: ${config.error}`)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the task wrote it
  return config.value as ReadConfig
}
