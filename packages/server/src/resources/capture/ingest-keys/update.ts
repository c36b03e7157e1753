import { encodeId, type RouteInput, type Routes } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { configChanged } from '../../workspace/projects/index.ts'
import { mintSigningSecret } from '../../mint.ts'
import type { Room } from '../../verbs.ts'
import { presentIngestKey } from './present.ts'
import { findIngestKey, updateIngestKey, type IngestKeyRow } from './queries.ts'
import { sealSigningSecret } from './signing-secret.ts'

type Input = RouteInput<Routes['ingestKeys']['update']>

/** Changes the members that were sent. Requiring signatures creates a secret if there is none; no longer requiring them deletes it. */
export const update: Room<'ingestKeys'>['update'] = (ctx, input) =>
  inTransaction(ctx, async (tx) => {
    const { id, ...settings } = input
    const held = await findIngestKey(tx.db, { ...tx, id, lock: true })
    if (held === undefined) throw refuse('not_found')
    const secret =
      settings.require_signature === true && held.signing_secret === null ? mintSigningSecret(tx) : undefined
    const row = await updateIngestKey(tx.db, {
      ...tx,
      ...changed(held, settings),
      ...changedSigning(tx, held, { secret, settings }),
      now: new Date(tx.clock.now()),
    })
    if (row === undefined) throw refuse('not_found')
    await audit(tx, {
      action: 'update_ingest_key',
      target: encodeId('ingestKey', id),
      details: { changed: Object.keys(settings) },
      change: { before: presentIngestKey(tx, held), after: presentIngestKey(tx, row) },
    })
    await configChanged(tx)
    return { ingest_key: presentIngestKey(tx, row), ...(secret === undefined ? {} : { signing_secret: secret }) }
  })

function changed(held: IngestKeyRow, settings: Omit<Input, 'id'>) {
  return {
    ...held,
    name: settings.name ?? held.name,
    enabled: settings.enabled ?? held.enabled,
    scopes: settings.scopes === undefined ? held.scopes : [...new Set(settings.scopes)],
    datasets: settings.datasets === undefined ? held.datasets : settings.datasets,
    ip_allowlist: settings.ip_allowlist ?? held.ip_allowlist,
    customer: settings.customer === undefined ? held.customer : settings.customer,
  }
}

type Signing = Pick<IngestKeyRow, 'signing_secret' | 'previous_signing_secret' | 'previous_signing_secret_expires_at'>

function changedSigning(
  tx: Ctx,
  held: IngestKeyRow,
  to: { readonly secret: string | undefined; readonly settings: Omit<Input, 'id'> },
): Signing {
  const { signing_secret, previous_signing_secret, previous_signing_secret_expires_at } = held
  const none = { previous_signing_secret: null, previous_signing_secret_expires_at: null }
  if (to.settings.require_signature === false) return { signing_secret: null, ...none }
  if (to.secret !== undefined)
    return { signing_secret: sealSigningSecret(tx, { id: held.id, secret: to.secret }), ...none }
  return { signing_secret, previous_signing_secret, previous_signing_secret_expires_at }
}
