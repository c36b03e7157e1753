import { reject } from '../types.ts'
import type { Check } from './passage.ts'

/**
 * Checks the permissions of the ingest key as far as the URL shows the target. The datasets into which rules file an
 * event are known only after the rules have run.
 */
export const checkKey: Check = (_deps, { receiver: { ingestKey, webhook, use, dataset } }) => {
  if (ingestKey === undefined) return undefined
  if (!ingestKey.scopes.has('ingest'))
    return reject('scope_missing', {
      text: 'This ingest key cannot send events. Add the scope "ingest" to the key, or use another key.',
    })
  const wanted = dataset ?? webhook?.dataset
  if (ingestKey.datasets === null || use === 'rules' || wanted === undefined || ingestKey.datasets.has(wanted))
    return undefined
  return reject('dataset_not_allowed', {
    text: `This ingest key cannot write to ${JSON.stringify(wanted.slice(0, 63))}. Add the dataset to the key, or use another key.`,
  })
}
