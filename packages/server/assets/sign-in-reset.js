/** A mailed link that sets a new password. */
import { api, doing, takeFragment } from './api.js'

const $ = (id) => document.getElementById(id)
const { token } = takeFragment()

$('form').addEventListener('submit', (event) => {
  event.preventDefault()
  void doing(event.submitter ?? $('form').querySelector('button'), $('said'), async () => {
    if (token === null)
      throw new Error('This address is not a whole link. Copy all of it from the mail, or ask for a new one.')
    const answer = await api('PUT', 'account/password-reset', { token, new_password: $('password').value })
    location.assign(answer.next)
    return 'Your new password is set.'
  })
})
