import type { RouteAnswer, Routes } from '@postroad/contract'

export type AuditRow = RouteAnswer<Routes['audit']['list']>['audit'][number]

/** Actions whose sentence no rule makes. `…` is the place of the object. */
const SPECIAL: Readonly<Record<string, string>> = {
  access_denied: 'was refused because the address is not allowed',
  accept_invite: 'accepted an invite',
  add_passkey: 'added the passkey …',
  apply_config: 'applied a configuration to …',
  change_email: 'changed their email address',
  change_password: 'changed their password',
  checkout_plan: 'opened the payment page for a plan',
  claim_agent_account: 'claimed the account of an agent',
  clear_network_access: 'allowed any address to access the workspace',
  decide_sso_request: 'decided the SSO request …',
  delete_member: 'removed …',
  delivery_allowance_used: 'paused new deliveries because the monthly allowance is used up',
  end_session: 'ended a session',
  ingest_signature_rejected: 'rejected a request with a wrong signature for …',
  leave_workspace: 'left the workspace',
  link_identity: 'linked an identity',
  open_billing_portal: 'opened the billing page',
  read_mail: 'read the email …',
  register_agent_account: 'registered the account …',
  request_email_change: 'requested a new email address',
  reset_password: 'set a new password with an emailed link',
  reveal_signing_secret: 'revealed the signing secret of …',
  rotate_signing_secret: 'rotated the signing secret of …',
  rotate_verification_secret: 'rotated the verification secret of …',
  rotate_webhook_url: 'rotated the URL of the endpoint …',
  restore_webhook_version: 'restored a version of the endpoint …',
  set_plan: 'changed the plan of …',
  sign_in: 'signed in',
  sign_out: 'signed out',
  sign_out_everywhere: 'signed out everywhere',
  sign_sample_request: 'signed a sample request for …',
  switch_workspace: 'switched to this workspace',
  transfer_ownership: 'transferred the ownership to …',
  update_member: 'changed the role of …',
  update_network_access: 'changed the allowed addresses of the workspace',
  update_subscription: 'changed the subscription',
  update_workspace: 'renamed the workspace',
  update_project: 'renamed the project …',
}

const PAST: Readonly<Record<string, string>> = {
  cancel: 'canceled',
  run: 'ran',
  set: 'set',
  update: 'changed',
  withdraw: 'withdrew',
}

/** Words of the contract for which the console has another word. */
const NOUNS: Readonly<Record<string, string>> = {
  webhook: 'endpoint',
  api_key: 'API key',
  ai_agent: 'AI agent',
  ai_provider: 'AI provider',
  ai_run: 'AI run',
  ai_trigger: 'agent trigger',
  sso_request: 'SSO request',
  ws_trigger: 'WebSocket trigger',
  data_key: 'Data API key',
  platform_settings: 'settings of the installation',
  broadcast: 'announcement',
}

/** An action as a verb in the past and its object: `created the rule …`. */
export function actionText(action: string): string {
  const special = SPECIAL[action]
  if (special !== undefined) return special
  const [verb = '', ...rest] = action.split('_')
  const noun = rest.join('_')
  return `${pastOf(verb)} the ${NOUNS[noun] ?? noun.replaceAll('_', ' ')} …`
}

function pastOf(verb: string): string {
  const known = PAST[verb]
  if (known !== undefined) return known
  if (verb.endsWith('e')) return `${verb}d`
  return /[^aeiou]y$/.test(verb) ? `${verb.slice(0, -1)}ied` : `${verb}ed`
}

/** The parts of a sentence about a row: `before` and `after` are around the object. */
export function sentenceOf({ action }: Pick<AuditRow, 'action'>): {
  readonly before: string
  readonly hasObject: boolean
  readonly after: string
} {
  const [before = '', after] = actionText(action).split('…')
  return { before: before.trimEnd(), hasObject: after !== undefined, after: (after ?? '').trimStart() }
}

/** The screen of an object, by the prefix of its id. */
const SCREENS: Readonly<Record<string, string>> = {
  whk: 'endpoints',
  dst: 'destinations',
  rul: 'rules',
  iky: 'ingest-keys',
  key: 'api-keys',
  usr: 'members',
  inv: 'members',
  prj: 'projects',
}

export function screenOf(target: string): string | undefined {
  return SCREENS[target.split('_')[0] ?? '']
}

/** One changed member of an object. */
export type Difference = { readonly member: string; readonly before: unknown; readonly after: unknown }

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The values before and after a change, if its row has them. */
export function differencesOf({ details }: Pick<AuditRow, 'details'>): readonly Difference[] {
  const { before, after, from, to, plan, previous } = details
  if (isObject(before) || isObject(after)) {
    const [old, now] = [isObject(before) ? before : {}, isObject(after) ? after : {}]
    return [...new Set([...Object.keys(old), ...Object.keys(now)])].map((member) => ({
      member,
      before: old[member],
      after: now[member],
    }))
  }
  if (typeof from === 'string' && typeof to === 'string') return [{ member: 'role', before: from, after: to }]
  if (typeof plan === 'string' && typeof previous === 'string')
    return [{ member: 'plan', before: previous, after: plan }]
  return []
}

/** The other details, which are not changes of a member. */
export function otherDetails({ details }: Pick<AuditRow, 'details'>): readonly (readonly [string, unknown])[] {
  const shown =
    differencesOf({ details }).length > 0
      ? new Set(['before', 'after', 'from', 'to', 'plan', 'previous', 'changed'])
      : new Set()
  return Object.entries(details).filter(([name]) => !shown.has(name))
}

/** A value as one line of text. */
export function valueText(value: unknown): string {
  if (value === undefined || value === null) return 'none'
  if (typeof value === 'string') return value === '' ? 'empty' : value
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object'))
    return value.length === 0 ? 'none' : value.join(', ')
  return JSON.stringify(value)
}
