import { bodyIn, framed } from '../page.ts'

/** The page instead of the console while it is being built. It reloads every two seconds. */
export const BUILDING_PAGE = framed({
  title: 'Postroad',
  style: 'sign-in',
  refreshSeconds: 2,
  main: bodyIn('building.html'),
})
