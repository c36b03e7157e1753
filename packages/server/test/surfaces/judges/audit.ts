import assert from 'node:assert/strict'
import { INSTALLATION } from '../../../src/resources/operate/operators/index.ts'
import { auditRows, auditRowsAfter, call, home, lastAuditRow, pathOf, type Named } from '../../stage/admin-asking.ts'
import { isWhole } from '../../stage/eighths.ts'
import type { Judge } from './judge.ts'
import { performed, type Performed } from './performed.ts'

/** The audit word of a verb, where it differs from the verb. */
const WORDS: Readonly<Record<string, string>> = { remove: 'delete', revoke: 'revoke', replace: 'update' }

/** `webhooks.rotateVerificationSecret` → rotate: the first word of its action. */
function wordOf({ name }: Named): string {
  const [word = ''] = (name.split('.')[1] ?? '').split(/(?=[A-Z])/)
  return WORDS[word] ?? word
}

const isRead = ({ route }: Named): boolean => route.whileSuspended === 'read'

const oneRow: Judge = {
  promise:
    'every change writes one audit row with the person, the change and the origin; a request that changes nothing writes none, and neither does a refusal',
  judge: async (named) => {
    for (const one of await performed(named)) {
      // The route itself declares that it changes nothing: reads, searches and dry runs.
      if (isRead(named)) assert.deepEqual(one.added, [])
      else assertRow(named, one)
    }
    const [first] = await performed(named)
    if (isRead(named) || first === undefined) return
    const had = await lastAuditRow()
    const line = `${named.route.method} ${pathOf(named, first.asked)}`
    const refused = await call(home, line, { body: { frobnicate: 1 } })
    if (refused.status >= 400) assert.deepEqual(await auditRowsAfter(had), [])
  },
}

function assertRow(named: Named, { asked, sender, answer, added }: Performed): void {
  const [row] = added
  assert.ok(row !== undefined && added.length === 1, `${added.length} rows`)
  // A row of a workspace never shows the address of an operator.
  const ip = named.route.operator === true && row.workspace_id !== INSTALLATION ? null : '127.0.0.1'
  assert.deepEqual([row.actor, row.agent, row.ip], [asked.actor ?? sender.userId, sender.agent, ip])
  assert.match(row.action, /^[a-z]+_[a-z_]+$/)
  assert.ok([wordOf(named), 'revoke'].includes(row.action.split('_')[0] ?? ''), row.action)
  const ids = Object.values<{ id?: string } | null>(answer.body).map((value) => value?.id)
  assert.ok([asked.target, ...Object.values(asked.params ?? {}), ...ids].includes(row.target ?? ''), `${row.target}`)
}

/** Writes of agents that change no setting and no state that a person set: the reason for each. */
const CHANGES_NOTHING: Readonly<Record<string, string>> = {
  test_ai_provider: 'asks a provider, and stores nothing',
  test_destination: 'sends a sample, and stores nothing',
  test_forwarder: 'sends a sample, and stores nothing',
  test_source: 'reads a sample, and stores nothing',
  sign_sample_request: 'signs a sample, and stores nothing',
  probe_destination: 'makes a waiting delivery due, which its attempts show',
  recover_destination: 'begins a replay; a destination that it turns on has a row of its own',
  run_cron_trigger: 'makes an event, which its origin names',
  run_workflow: 'starts an instance, which the details name',
  verify_quarantine: 'looks at rejected requests again',
  apply_config: 'each change of the file has a row of its own',
}

const beforeAndAfter: Judge = {
  promise: 'every change by an agent shows before and after; a creation or a deletion shows one of them',
  about: (named) => named.route.callers === 'all' && !isRead(named),
  judge: async (named) => {
    const rows = (await performed(named)).flatMap(({ added }) => added).filter(({ agent }) => agent !== null)
    for (const row of rows.filter(({ action }) => CHANGES_NOTHING[action] === undefined)) assertShown(named, row)
  },
}

type Shown = { readonly before?: object | null; readonly after?: object | null }

function assertShown(named: Named, { action, details }: { readonly action: string; readonly details: string }): void {
  const shown = JSON.parse(details) as Shown
  assert.ok('before' in shown && 'after' in shown, details)
  const { before: was, after: is } = shown
  const kind = wordOf(named)
  if (kind === 'create') assert.ok(was === null && is !== null, details)
  if (kind === 'delete' && !action.startsWith('revoke')) assert.ok(was !== null && is === null, details)
  // The list of the example of network.update is in force already.
  if (kind === 'update' && named.name !== 'network.update') assert.notDeepEqual(was, is, details)
}

/** The routes that received or showed each secret. */
const secrets = new Map<string, string>()

const withoutSecrets: Judge = {
  promise: 'no audit row of any route contains a secret, a URL slug or a payload',
  around: async (walk) => {
    secrets.set(home.key, 'the key of the stage')
    await walk()
    if (isWhole) assert.ok(secrets.size > 30, `${secrets.size} secrets`)
    const rows = (await auditRows()).map(({ row }) => row).join('\n')
    assert.deepEqual(
      [...secrets].filter(([secret]) => rows.includes(secret)).map(([, name]) => name),
      [],
      'An audit row contains a secret of these routes.',
    )
  },
  judge: async (named) => {
    for (const { asked, answer } of await performed(named)) {
      const found = [
        ...(JSON.stringify(asked.body ?? {}).match(/canary-[\w-]+/g) ?? []),
        ...(answer.text.match(/(?:hk|ik_live|whsec)_[0-9A-Za-z+/=]{30,}/g) ?? []),
        ...[...answer.text.matchAll(/"webhook_slug":"([^"]+)"/g)].map(([, slug = '']) => slug),
      ]
      for (const secret of found) secrets.set(secret, named.name)
    }
  },
}

export const audit: readonly Judge[] = [oneRow, beforeAndAfter, withoutSecrets]
