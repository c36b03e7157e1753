/** An invite from a mail. Nothing is spent until the button is pressed by somebody who is signed in. */
import { api, doing, reportIncompleteLink, takeFragment } from './api.js'

const $ = (id) => document.getElementById(id)
const { token } = takeFragment()

if (token === null) {
  reportIncompleteLink({
    remedy: 'Copy the whole link from the email, or ask for a new invite.',
    action: 'Go to sign-in',
  })
} else {
  $('sign-in').href = `/sign-in#${new URLSearchParams({ next: `/invites/accept#t=${token}` })}`
}

$('go').addEventListener(
  'click',
  () =>
    void doing($('go'), $('said'), async () => {
      try {
        const { workspace } = await api('POST', 'invites/accept', { token })
        $('go').hidden = true
        location.assign('/')
        return `Welcome to ${workspace.name}.`
      } catch (error) {
        if (error.status === 401) location.assign($('sign-in').href)
        throw error
      }
    }),
)
