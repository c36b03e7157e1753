import type { SourcePreset } from '@postroad/contract'
import { KNOWN_HANDSHAKES, type KnownHandshake } from '@postroad/contract/handshake-forms'
import { isAdditive, settingsIn } from './additive-schemes.ts'
import { SENDERS, type Sender } from './senders.ts'
import { verificationDraftOf } from './verification-draft.ts'

/** A preset as a sender of the setup form. */
export function senderOf({ id, name, docs_url, signature_header, secret, setup, settings }: SourcePreset): Sender {
  const { verification, idempotency, event_title, handshake, response, body_as, split } = settings
  return {
    id,
    name,
    text: signature_header,
    setup: setup.join(' '),
    steps: setup,
    docsUrl: docs_url,
    secretName: secret,
    verification: {
      ...verificationDraftOf({ verification }),
      ...(isAdditive(verification.scheme) ? { additive: settingsIn(verification) } : {}),
    },
    idempotency,
    ...(event_title === null ? {} : { title: event_title }),
    handshake,
    ...(response === null ? {} : { response }),
    ...(body_as === 'contract' ? {} : { bodyAs: body_as }),
    ...(split === null ? {} : { split }),
  }
}

/** Senders without a preset: any sender, and any sender that signs with an HMAC. */
const [ANY, HMAC] = ['any', 'hmac'].map((id) => SENDERS.find((sender) => sender.id === id))

/** A provider without a preset, whose handshake is known. */
const asker = ({ id, name, form }: KnownHandshake): Sender => ({
  id: `handshake-${id}`,
  name,
  text: 'handshake only',
  setup: `Postroad answers the handshake of ${name}. Create the endpoint before you enter its URL there.`,
  verification: {},
  idempotency: null,
  handshake: { kind: 'custom', ...form },
})

/** The state of the presets: loading, failed, or loaded. */
export type Presets = 'pending' | 'failed' | readonly SourcePreset[]

/**
 * The senders to choose from: any sender first, then the search results. While presets load, only the first is there,
 * so that no button moves under a pointer. If they fail to load, the few built-in senders follow.
 */
export function sendersFor(presets: Presets, search: string): readonly Sender[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  return knownSenders(presets).filter(({ id, name, text }) => {
    const searched = `${id} ${name} ${text}`.toLowerCase()
    return words.every((word) => searched.includes(word))
  })
}

function knownSenders(presets: Presets): readonly Sender[] {
  if (presets === 'failed') return SENDERS
  const known = presets === 'pending' ? [ANY] : [ANY, ...popularFirst(presets).map(senderOf), ...askers(presets), HMAC]
  return known.filter((one) => one !== undefined)
}

/** Without those whose answer is signed: they work only with a secret, which this setup does not ask for. */
function askers(presets: readonly SourcePreset[]): readonly Sender[] {
  return KNOWN_HANDSHAKES.filter(
    ({ id, form }) => !form.answer.body.includes('{{ hmac_') && presets.every((preset) => preset.id !== id),
  ).map(asker)
}

/** The senders that most people look for come first; the others follow by name. */
const POPULAR: readonly string[] = ['stripe', 'github', 'shopify', 'slack', 'gitlab', 'paypal', 'twilio', 'linear']

function popularFirst(presets: readonly SourcePreset[]): readonly SourcePreset[] {
  const found = POPULAR.flatMap((id) => presets.filter((preset) => preset.id === id))
  return [...found, ...presets.filter((preset) => !found.includes(preset))]
}
