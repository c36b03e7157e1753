/** One's own account: address, password, passkeys, sessions. */
import { api, mailed, doing as doingOnce } from './api.js'

const $ = (id) => document.getElementById(id)
const TIME = { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' }
const at = (text) => new Date(text).toLocaleString('en-US', TIME)
const METHODS = { password: 'password', link: 'link', passkey: 'passkey', oidc: 'identity provider' }
const DRAFT = 'account.email'
let methods

/** As `doing`; when the server wants a recent sign-in, offers one that comes back here, with the typed address. */
function doing(button, said, work) {
  return doingOnce(button, said, async () => {
    try {
      return await work()
    } catch (error) {
      if (error.reason === 'recent_sign_in_required') offerSignIn(said)
      throw error
    }
  })
}

function offerSignIn(said) {
  for (const offer of document.querySelectorAll('.again')) offer.remove()
  said.after(signInAgain())
}

function signInAgain() {
  const [p, a] = [document.createElement('p'), document.createElement('a')]
  p.className = 'again'
  a.className = 'button'
  a.href = '/sign-in?next=/account'
  a.textContent = 'Sign in again'
  a.addEventListener('click', () => sessionStorage.setItem(DRAFT, $('email').value))
  p.append(a)
  // A person without an address cannot receive a link by email.
  if ($('username').value === '')
    p.append(' or run “npx postroad sign-in-link” where the server runs, and open its link.')
  return p
}

function item(title, detail, action) {
  const li = document.createElement('li')
  const text = document.createElement('div')
  const [strong, small] = [document.createElement('strong'), document.createElement('small')]
  strong.textContent = title
  small.textContent = detail
  text.append(strong, small)
  li.append(text)
  if (action !== undefined) {
    const button = document.createElement('button')
    button.type = 'button'
    button.textContent = action.label
    button.setAttribute('aria-label', `${action.label}: ${title}`)
    button.addEventListener('click', () => void doing(button, action.said, action.run))
    li.append(button)
  }
  return li
}

async function showAccount() {
  const { user, has_password } = await api('GET', 'account')
  $('who').textContent =
    user.email === null
      ? `${user.name}. Add an email address, so that you can sign in without the link of the server.`
      : `${user.name}, ${user.email}`
  $('email').value = sessionStorage.getItem(DRAFT) ?? user.email ?? ''
  sessionStorage.removeItem(DRAFT)
  $('username').value = user.email ?? ''
  $('current-field').hidden = !has_password
  $('current').required = has_password
  $('set-password').textContent = has_password ? 'Change password' : 'Set password'
}

async function showPasskeys() {
  const { passkeys } = await api('GET', 'account/passkeys')
  $('passkeys').replaceChildren(
    ...passkeys.map(({ id, name, created_at, last_used_at }) =>
      item(
        name,
        `Added ${at(created_at)}, ${last_used_at === null ? 'not used yet' : `last used ${at(last_used_at)}`}`,
        {
          label: 'Remove',
          said: $('passkey-said'),
          run: async () => {
            await api('DELETE', `account/passkeys/${id}`)
            await showPasskeys()
            return `Removed: ${name}.`
          },
        },
      ),
    ),
  )
  const possible = methods.passkey && globalThis.PublicKeyCredential?.parseCreationOptionsFromJSON !== undefined
  $('passkey-form').hidden = !possible
  if (!methods.passkey && passkeys.length === 0)
    $('passkey-said').textContent =
      'Passkeys do not work with an IP address. Set PUBLIC_URL to a URL with a host name, and open this page there.'
}

async function showSessions() {
  const { sessions } = await api('GET', 'account/sessions')
  $('sessions').replaceChildren(
    ...sessions.map(({ id, current, method, ip, user_agent, last_seen_at }) =>
      item(
        current ? 'This session' : browserOf(user_agent),
        `By ${METHODS[method]}, from ${ip ?? 'an unknown address'}, last used ${at(last_seen_at)}`,
        current
          ? undefined
          : {
              label: 'Sign out',
              said: $('sessions-said'),
              run: async () => {
                await api('DELETE', `account/sessions/${id}`)
                await showSessions()
                return 'Signed out.'
              },
            },
      ),
    ),
  )
}

function browserOf(agent) {
  const [, name] = /(Firefox|Edg|OPR|Chrome|Safari|curl)\/[\d.]+/.exec(agent ?? '') ?? []
  const [, system] = /(Windows|Android|iPhone|iPad|Mac OS X|Linux)/.exec(agent ?? '') ?? []
  return [{ Edg: 'Edge', OPR: 'Opera' }[name] ?? name ?? 'Unknown browser', system]
    .filter((part) => part !== undefined)
    .join(' on ')
}

$('email-form').addEventListener('submit', (event) => {
  event.preventDefault()
  void doing(event.submitter, $('email-said'), async () => {
    await api('POST', 'account/email', { email: $('email').value })
    return mailed('Open the link in the mail within 15 minutes, in this browser.', methods)
  })
})

$('password-form').addEventListener('submit', (event) => {
  event.preventDefault()
  void doing(event.submitter, $('password-said'), async () => {
    const current = $('current-field').hidden ? {} : { current_password: $('current').value }
    await api('PUT', 'account/password', { ...current, new_password: $('new').value })
    $('password-form').reset()
    await Promise.all([showAccount(), showSessions()])
    return 'The new password is set.'
  })
})

$('passkey-form').addEventListener('submit', (event) => {
  event.preventDefault()
  void doing(event.submitter, $('passkey-said'), async () => {
    const { options } = await api('POST', 'account/passkeys/options', {})
    const credential = await navigator.credentials.create({
      publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options),
    })
    await api('POST', 'account/passkeys', { name: $('passkey-name').value, passkey: credential.toJSON() })
    $('passkey-form').reset()
    await showPasskeys()
    return 'Added. It can sign in now.'
  })
})

async function leave(path) {
  await api('DELETE', path)
  location.assign('/sign-in')
  return 'Signed out.'
}

$('sign-out').addEventListener('click', () => void leave('session'))
$('everywhere').addEventListener(
  'click',
  () => void doing($('everywhere'), $('sessions-said'), () => leave('account/sessions')),
)

try {
  methods = await api('GET', 'session/methods')
  await showAccount()
  await Promise.all([showPasskeys(), showSessions()])
} catch (error) {
  if (error.status === 401) location.assign('/sign-in?next=/account')
  else $('who').textContent = error.message
}
