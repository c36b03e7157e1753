/** One call of the admin API with the session cookie. Throws the server's own sentence. */
export async function api(method, path, body) {
  const response = await fetch(`/admin/api/${path}`, {
    method,
    headers: { 'X-Requested-With': 'postroad', ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer = await response.json()
  if (!response.ok) throw Object.assign(new Error(answer.error), { status: response.status, reason: answer.reason })
  return answer
}

/** The fragment of the link. It is removed from the address bar, so that no history stores it. */
export function takeFragment() {
  const fragment = new URLSearchParams(location.hash.slice(1))
  if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search)
  return { token: fragment.get('t'), next: fragment.get('next') ?? undefined }
}

/** Does something once at a time, and says below what came of it. */
export async function doing(button, said, work) {
  button.disabled = true
  said.className = 'said'
  said.textContent = 'One moment…'
  try {
    said.textContent = (await work()) ?? ''
  } catch (error) {
    said.className = 'said wrong'
    said.textContent = error.message
  } finally {
    button.disabled = false
  }
}

/** The sentence after a person requested an email. */
export function mailed(text, methods) {
  return methods?.mail === 'outbox'
    ? `${text} No mail server is set up here: the email is in the folder "outbox" of the server's data.`
    : text
}

/** Shows that the address contains no token. The link below the card becomes the button of the next step. */
export function reportIncompleteLink({ remedy, action }) {
  document.querySelector('h1').textContent = 'This link is incomplete'
  document.getElementById('lead').textContent = remedy
  document.getElementById('go').hidden = true
  const link = document.querySelector('.fine a')
  link.textContent = action
  link.className = 'button primary wide'
}
