import './portal.css' // oxlint-disable-line import/no-unassigned-import -- a stylesheet has no name
import { createRoot } from 'react-dom/client'
import { overNetwork } from './data/server.ts'
import { pageAround } from './data/page-around.ts'
import { App } from './frame/app.tsx'

declare global {
  interface Window {
    /** The token of the address. The first script of the page has moved it here before anything was loaded. */
    portalToken?: string | undefined
  }
}

const { portalToken: token } = window
delete window.portalToken
const [, , place = ''] = location.pathname.split('/')
const root = document.querySelector('#root')

if (root !== null) {
  const around = pageAround()
  if (place === 'preview') {
    // The live preview of the console: samples instead of a server.
    void import('./preview/preview.tsx').then(({ Preview }) => createRoot(root).render(<Preview around={around} />))
  } else {
    createRoot(root).render(<App entry={{ server: overNetwork(place), token, around }} />)
  }
}
