import type { RouteAnswer, Routes } from '@postroad/contract'
import { wordOf, type Light, type Tone } from '@postroad/contract/lights'
import type { ReactElement } from 'react'
import { useAsk } from '../data/ask.ts'
import { RecentBars } from './recent.tsx'

export type AiRun = RouteAnswer<Routes['aiRuns']['search']>['ai_runs'][number]

const LAST = 20
const POLL_MS = 15_000

const TONES: Readonly<Record<AiRun['state'], Tone>> = {
  queued: 'sending',
  running: 'sending',
  succeeded: 'ok',
  failed: 'fail',
  cancelled: 'rejected',
  skipped: 'rejected',
}
const TEXTS: Readonly<Record<AiRun['state'], string>> = {
  queued: 'Starts as soon as a process is free.',
  running: 'A process is calling the model.',
  succeeded: 'The agent returned its output.',
  failed: 'The last attempt failed.',
  cancelled: 'Canceled by a person, or its workflow ended.',
  skipped: 'The run reached a limit, so Postroad did not call the model.',
}

export function aiRunLight({ state, paused, attempt }: Pick<AiRun, 'state' | 'paused' | 'attempt'>): Light {
  if (paused && (state === 'queued' || state === 'running'))
    return {
      tone: 'paused',
      word: 'paused',
      text: 'The workspace is suspended or closed. The run continues when the workspace is active again.',
    }
  if (state === 'queued' && attempt > 0)
    return { tone: 'retry', word: 'retrying', text: 'The last attempt failed. Postroad retries the run.' }
  return { tone: TONES[state], word: wordOf(state), text: TEXTS[state] }
}

/** One bar for each of the last runs of an agent or a trigger. */
export function RunBars({
  of,
}: {
  readonly of: { readonly agent_id: string } | { readonly trigger_id: string }
}): ReactElement | null {
  const runs = useAsk(
    ['aiRuns', 'recent', of],
    (client, signal) => client.aiRuns.search({ ...of, limit: LAST, f: [] }, { signal }),
    { everyMs: POLL_MS },
  ).data?.ai_runs
  if (runs === undefined) return null
  const succeeded = runs.filter(({ state }) => state === 'succeeded').length
  return (
    <RecentBars
      of={runs.map((run) => aiRunLight(run).tone)}
      label={`${succeeded} of the last ${runs.length} succeeded`}
    />
  )
}
