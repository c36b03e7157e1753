/** A mailed link. Nothing is spent until the button is pressed, so that no mail scanner uses the link up. */
import { api, doing, reportIncompleteLink, takeFragment } from './api.js'

const $ = (id) => document.getElementById(id)
const { token, next } = takeFragment()

if (token === null) {
  reportIncompleteLink({ remedy: 'Copy the whole link from the email, or get a new one.', action: 'Get a new link' })
}

$('go').addEventListener(
  'click',
  () =>
    void doing($('go'), $('said'), async () => {
      const answer = await api('POST', 'session', { token, next }).catch(whoeverIsIn)
      location.assign(answer.next)
      return 'Signed in.'
    }),
)

/** A link that was used before does no harm to somebody who is signed in already: it opens the console for them. */
async function whoeverIsIn(over) {
  if (over.reason !== 'link_over') throw over
  try {
    await api('GET', 'me')
  } catch {
    throw over
  }
  return { next: '/' }
}
