import { bodyIn, framed } from '../page.ts'

/** What stands in the console's place while it is built: it looks again every two seconds. */
export const BUILDING_PAGE = framed({
  title: 'Postroad',
  style: 'sign-in',
  refreshSeconds: 2,
  main: bodyIn('building.html'),
})
