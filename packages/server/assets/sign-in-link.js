/** A mailed link. Nothing is spent until the button is pressed, so that no mail scanner uses the link up. */
import { api, doing, takeFragment } from './api.js'

const $ = (id) => document.getElementById(id)
const { token, next } = takeFragment()

if (token === null) {
  $('lead').textContent = 'This address is not a whole link. Copy all of it from the mail, or ask for a new one.'
  $('go').hidden = true
}

$('go').addEventListener(
  'click',
  () =>
    void doing($('go'), $('said'), async () => {
      const answer = await api('POST', 'session', { token, next })
      location.assign(answer.next)
      return 'Signed in.'
    }),
)
