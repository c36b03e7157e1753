import type { Page } from 'playwright-core'
import { inProject, inWorkspace, type ReadingScreen } from './list-states.ts'
import { grid, heading } from './place.ts'

const SCREENS: readonly ReadingScreen[] = [
  { screen: 'endpoints', title: 'Endpoints', reads: inProject('webhooks'), theme: 'light' },
  { screen: 'ingest-keys', title: 'Ingest keys', reads: inProject('ingest-keys'), theme: 'dark' },
  { screen: 'rules', title: 'Rules', reads: inProject('rules'), theme: 'light' },
  { screen: 'destinations', title: 'Destinations', reads: inProject('destinations'), theme: 'dark' },
  { screen: 'events', title: 'Events', reads: inProject('records'), theme: 'light' },
  { screen: 'deliveries', title: 'Deliveries', reads: inProject('deliveries'), theme: 'dark' },
  {
    screen: 'rejections',
    title: 'Rejections',
    reads: inProject('rejections'),
    theme: 'light',
    shows: (page) => heading(page, 'No rejected requests'),
  },
  {
    screen: 'portals',
    title: 'Portals',
    reads: inProject('portals'),
    theme: 'dark',
    shows: (page) => heading(page, 'No portals yet'),
  },
  {
    screen: 'overview',
    title: 'Overview',
    reads: inWorkspace('dashboard/summary'),
    theme: 'light',
    shows: (page) =>
      page
        .getByRole('group', { name: 'Numbers' })
        .or(page.getByRole('heading', { name: 'No events in this time range' }))
        .waitFor(),
  },
]

/** The screens of daily work and of the setup that read, with an event, a destination, a rule and an ingest key. */
export const RESOURCE_SCREENS: readonly ReadingScreen[] = SCREENS.map((screen) => ({
  shows: (page: Page) => grid(page, screen.title),
  ...screen,
}))
