/** A mailed link that confirms an address, for the account that asked for it. */
import { api, doing, takeFragment } from './api.js'

const $ = (id) => document.getElementById(id)
const { token } = takeFragment()

if (token === null) {
  $('lead').textContent = 'This address is not a whole link. Copy all of it from the mail, or ask for a new one.'
  $('go').hidden = true
}

$('go').addEventListener(
  'click',
  () =>
    void doing($('go'), $('said'), async () => {
      const { email } = await api('PUT', 'account/email', { token }).catch((error) => {
        throw error.status === 401 && error.reason === 'unauthorized'
          ? new Error('Sign in to the account that asked for it in this browser, then open the link again.')
          : error
      })
      $('go').hidden = true
      return `Confirmed: ${email} signs in to your account from now on.`
    }),
)
