import type { RouteRequest, Routes } from '@postroad/contract'
import { authOf, NO_AUTH, type AuthDraft } from './auth-draft.ts'
import { bodyDraftOfPreset, bodyMembersOf, type BodyDraft } from './body-draft.ts'
import { bodyOf, NEW_DRAFT, type DestinationDraft } from './draft.ts'
import type { Preset } from './presets.tsx'

/** The draft of a new destination: all settings together; a person can change each of them later. */
export type CreateDraft = {
  readonly settings: DestinationDraft
  readonly auth: AuthDraft
  readonly content: BodyDraft
}

/** The start values of a preset. */
export function createDraftOf({
  id,
  name,
  url,
  settings: { auth, headers, payload_template },
  config = '',
  maxInFlight,
}: Preset): CreateDraft {
  return {
    // The preset fills in a URL that is the same for everyone.
    settings: {
      ...NEW_DRAFT,
      config,
      ...(maxInFlight === undefined ? {} : { maxInFlight: String(maxInFlight) }),
      url: url.includes('{') ? '' : url,
      name: id === 'generic' ? '' : name,
      headers: Object.entries(headers)
        .map(([header, value]) => `${header}: ${value}`)
        .join('\n'),
    },
    auth: { ...NO_AUTH, kind: auth.kind, header: auth.header ?? '' },
    content: bodyDraftOfPreset({ settings: { auth, headers, payload_template } }),
  }
}

type Body = RouteRequest<Routes['destinations']['create']>

/** The problem of a form that nobody has filled in yet. */
export const NO_URL = 'Enter the URL of the receiver.'

/** The request body of the draft, or the sentence about its fault. */
export function createBodyOf({
  settings,
  auth,
  content,
}: CreateDraft): { readonly body: Body } | { readonly problem: string } {
  const read = bodyOf(settings)
  if ('problem' in read) return read
  const made = bodyMembersOf(content)
  if ('problem' in made) return made
  if (read.body.url === '') return { problem: NO_URL }
  return { body: { ...read.body, auth: authOf(auth), ...made.body } }
}
