import type { Client } from '@postroad/sdk'
import { useSyncExternalStore } from 'react'
import { clientOf } from './client.ts'
import { Patterns, type AskPatterns } from './patterns.ts'
import { usePlace } from './place.ts'

const asking = new Map<string, Patterns>()

/** The patterns of a project, one object for the whole page. */
function patternsOf(projectId: string): Patterns {
  const known = asking.get(projectId) ?? new Patterns(askOf(clientOf(projectId)))
  asking.set(projectId, known)
  return known
}

/** Asks the test route of rules, which uses the engine that routes events. */
function askOf(client: Client): AskPatterns {
  return async (pattern, texts) => {
    const { results } = await client.rules.test({
      conditions: [{ path: 'text', op: 'regex', value: pattern }],
      payloads: texts.map((text) => ({ text })),
      recent: 0,
    })
    return results.map(({ matched }) => matched)
  }
}

/** The known matches of texts and patterns; draws again with each new answer. */
export function usePatterns(): Patterns {
  const { project } = usePlace()
  const patterns = patternsOf(project.id)
  useSyncExternalStore(patterns.subscribe, () => patterns.version)
  return patterns
}
