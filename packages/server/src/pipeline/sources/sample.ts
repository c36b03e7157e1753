import type { Deps } from '../../context.ts'
import type { Sample, SampleAsked } from '../../features.ts'
import { readSource } from './readers/read.ts'
import { replicationPlan } from './readers/replication-plan.ts'
import { readSse, type SseSettings } from './readers/sse.ts'
import type { PolledSettings } from './readers/types.ts'
import { checkReplication } from '../../platform/foreign-databases/replication/index.ts'
import { ForeignFailure } from '../../platform/foreign-failure.ts'

/** A sample listens to a stream for this long. */
const LISTEN_MS = 5_000
const CHECK_MS_MAX = 20_000

type Of = Pick<Deps, 'reach' | 'clock' | 'config' | 'deliveryUserAgent'>

/** Reads the first items of a source and stores nothing. A failure of the other system is a value. */
export async function sampleSource(deps: Of, asked: SampleAsked): Promise<Sample> {
  try {
    const items = await sampleOf(deps, asked)
    return { ok: true, items: items.slice(0, asked.itemsMax) }
  } catch (error) {
    if (!(error instanceof ForeignFailure)) throw error
    return { ok: false, reason: error.reason, error: error.message }
  }
}

async function sampleOf(deps: Of, asked: SampleAsked): Promise<readonly string[]> {
  const { settings } = asked
  switch (settings.kind) {
    case 'sse': {
      return listen(deps, { ...asked, settings })
    }
    case 'postgres_replication': {
      // No change is waiting for a slot that does not exist yet.
      await checkReplication({
        reach: deps.reach,
        plan: replicationPlan({ id: 'test', settings, secret: asked.secret }),
        signal: AbortSignal.timeout(CHECK_MS_MAX),
      })
      return []
    }
    case 'http_poll':
    case 'mysql':
    case 'postgres': {
      return poll(deps, { ...asked, settings: asSample(settings) })
    }
  }
}

async function poll(deps: Of, asked: SampleAsked & { readonly settings: PolledSettings }): Promise<readonly string[]> {
  const { items } = await readSource(deps, {
    ...asked,
    position: null,
    rowBytesMax: deps.config.INGEST_BODY_BYTES,
    signal: new AbortController().signal,
  })
  return items.flatMap(({ text }) => text ?? [])
}

/** A sample shows rows that exist already. */
function asSample(settings: PolledSettings): PolledSettings {
  if (settings.kind === 'http_poll') return settings
  return settings.start === 'now'
    ? { ...settings, start: 'beginning', lag_seconds: 0 }
    : { ...settings, lag_seconds: 0 }
}

async function listen(deps: Of, asked: SampleAsked & { readonly settings: SseSettings }): Promise<readonly string[]> {
  const heard: string[] = []
  const stream = readSse(deps, {
    ...asked,
    position: { last_event_id: null },
    rowBytesMax: deps.config.INGEST_BODY_BYTES,
    signal: AbortSignal.timeout(LISTEN_MS),
  })
  for await (const { items } of stream) {
    heard.push(...items.filter((item) => item !== null))
    if (heard.length >= asked.itemsMax) break
  }
  return heard
}
