/** The claim URL that an agent gave to a person. Nothing changes until the button is pressed by somebody who is signed in. */
import { api, doing, reportIncompleteLink, takeFragment } from './api.js'

const $ = (id) => document.getElementById(id)
const { token } = takeFragment()

if (token === null) {
  reportIncompleteLink({ remedy: 'Copy the whole link, or ask the agent for its claim URL.', action: 'Go to sign-in' })
} else {
  $('sign-in').href = `/sign-in#${new URLSearchParams({ next: `/account/claim#t=${token}` })}`
}

$('go').addEventListener(
  'click',
  () =>
    void doing($('go'), $('said'), async () => {
      try {
        const { workspace } = await api('POST', 'agent-accounts/claim', { claim_token: token })
        $('go').hidden = true
        location.assign('/')
        return `You are now the owner of ${workspace.name}.`
      } catch (error) {
        if (error.status === 401) location.assign($('sign-in').href)
        throw error
      }
    }),
)
