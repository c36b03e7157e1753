/** A mailed link that confirms an address, for the account that asked for it. */
import { api, doing, reportIncompleteLink, takeFragment } from './api.js'

const $ = (id) => document.getElementById(id)
const { token } = takeFragment()

if (token === null) {
  reportIncompleteLink({
    remedy: 'Copy the whole link from the email, or ask for a new one in your account.',
    action: 'Go to your account',
  })
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
