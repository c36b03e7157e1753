/** An invite from a mail. Nothing is spent until the button is pressed by somebody who is signed in. */
import { api, doing, takeFragment } from './api.js'

const $ = (id) => document.getElementById(id)
const { token } = takeFragment()

if (token === null) {
  $('lead').textContent = 'This address is not a whole link. Copy all of it from the mail, or ask for a new invite.'
  $('go').hidden = true
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
