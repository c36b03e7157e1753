import type { Deps } from '../../context.ts'
import type { Sample, SampleAsked } from '../../features.ts'
import { readSource } from './readers/read.ts'
import { SourceFailure } from './readers/types.ts'

/** Reads the first items of a source and stores nothing: the next ones from the start that the settings name. */
export async function sampleSource(
  deps: Pick<Deps, 'reach' | 'clock' | 'config'>,
  { settings, secret, itemsMax }: SampleAsked,
): Promise<Sample> {
  try {
    const { items } = await readSource(deps, {
      settings: asSample(settings),
      secret,
      position: null,
      itemsMax,
      rowBytesMax: deps.config.INGEST_BODY_BYTES,
      signal: new AbortController().signal,
    })
    return { ok: true, items: items.filter((item) => item !== null) }
  } catch (error) {
    if (!(error instanceof SourceFailure)) throw error
    return { ok: false, reason: error.reason, error: error.message }
  }
}

/** A sample shows rows that exist already. */
function asSample(settings: SampleAsked['settings']): SampleAsked['settings'] {
  return settings.start === 'now' ? { ...settings, start: 'beginning', lag_seconds: 0 } : { ...settings, lag_seconds: 0 }
}
