/** Signing in: by password, mailed link, passkey, or the identity provider. */
import { api, doing, mailed, takeFragment } from './api.js'

const $ = (id) => document.getElementById(id)
// The fragment, when it is the token of an invite.
const next = takeFragment().next ?? new URLSearchParams(location.search).get('next') ?? undefined
const said = $('said')
let methods

function go(answer) {
  location.assign(answer.next)
  return 'Signed in.'
}

/** The password is asked for by who signs in with it; a link needs the address alone. */
function address() {
  if ($('email').reportValidity()) return $('email').value
  throw new Error('Type your email address first.')
}

$('form').addEventListener('submit', (event) => {
  event.preventDefault()
  void doing(event.submitter ?? $('form').querySelector('button'), said, async () => {
    if ($('password').value === '') throw new Error('Type your password, or have a link mailed to you.')
    return go(await api('POST', 'session', { email: address(), password: $('password').value, next }))
  })
})

$('link').addEventListener(
  'click',
  () =>
    void doing($('link'), said, async () => {
      await api('POST', 'session/links', { email: address(), next })
      return mailed('If there is an account with this address, a link is on its way. It works for 15 minutes.', methods)
    }),
)

$('forgot').addEventListener(
  'click',
  () =>
    void doing($('forgot'), said, async () => {
      await api('POST', 'account/password-reset', { email: address() })
      return mailed('If there is an account with this address, a link to set a new password is on its way.', methods)
    }),
)

async function askPasskey() {
  const { options } = await api('POST', 'session/passkey-options', {})
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options)
  const credential = await navigator.credentials.get({ publicKey })
  return go(await api('POST', 'session', { passkey: credential.toJSON(), next }))
}

$('passkey').addEventListener(
  'click',
  () =>
    void doing($('passkey'), said, async () => {
      try {
        return await askPasskey()
      } catch (error) {
        throw error.name === 'NotAllowedError'
          ? new Error('No passkey was used. Try again, or sign in another way.')
          : error
      }
    }),
)

$('oidc').addEventListener(
  'click',
  () =>
    void doing($('oidc'), said, async () => {
      location.assign((await api('POST', 'session/oidc', { next })).url)
      return 'Going to the provider…'
    }),
)

methods = await api('GET', 'session/methods')
$('passkey').hidden = !(methods.passkey && globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON !== undefined)
if (methods.oidc !== null) {
  $('oidc').textContent = `Sign in with ${methods.oidc.name}`
  $('oidc').hidden = false
}
