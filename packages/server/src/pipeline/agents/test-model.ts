import type { Deps } from '../../context.ts'
import type { ModelTestAsked, ModelTested } from '../../features.ts'
import { stopwatch } from '../../platform/clock.ts'
import { secretPlace } from '../../resources/secret-place.ts'
import { findProvider } from '../../resources/automation/ai-providers/queries.ts'
import { failureOf } from './failure.ts'
import { guardedFetch } from './guarded-fetch.ts'
import { askModel } from './model.ts'

const TEST_MS = 20_000
const TEST_TOKENS = 16

/** Asks a provider for one short answer. It may take long, so it runs outside of transactions. */
export async function testModel(
  { database, outbound, cipher }: Deps,
  { workspaceId, projectId, providerId }: ModelTestAsked,
): Promise<ModelTested> {
  const durationMs = stopwatch()
  const provider = await findProvider(database.forWorkspace(workspaceId), { workspaceId, projectId, id: providerId })
  if (provider === undefined) return { ok: false, text: null, error: 'The provider does not exist.', durationMs: 0 }
  const sealed = provider.api_key
  try {
    const answer = await askModel(
      {
        kind: provider.kind,
        base_url: provider.base_url,
        apiKey:
          sealed === null ? undefined : cipher.open(sealed, secretPlace('ai_providers.api_key', providerId)).reveal(),
        model: provider.default_model,
        structured_outputs: provider.structured_outputs,
      },
      guardedFetch(outbound, { timeoutMs: TEST_MS, lane: providerId }),
      {
        prompt: [{ role: 'user', content: [{ type: 'text', text: 'Answer with the word: ready' }] }],
        tools: [],
        force: undefined,
        schema: undefined,
        maxOutputTokens: TEST_TOKENS,
      },
    )
    const text = answer.content.map((part) => (part.type === 'text' ? part.text : '')).join('')
    return { ok: true, text, error: null, durationMs: durationMs() }
  } catch (cause) {
    return { ok: false, text: null, error: failureOf(cause).error, durationMs: durationMs() }
  }
}
