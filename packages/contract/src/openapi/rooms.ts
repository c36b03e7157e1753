import type { AboutRooms } from '../about.ts'
import { automationAbout } from '../routes/automation/index.ts'
import { captureAbout } from '../routes/capture/index.ts'
import { deliveryAbout } from '../routes/delivery/index.ts'
import type { Routes } from '../routes/index.ts'
import { operateAbout } from '../routes/operate/index.ts'
import { peopleAbout } from '../routes/people/index.ts'
import { servingAbout } from '../routes/serving/index.ts'
import { sourcesAbout } from '../routes/sources/index.ts'
import { workspaceAbout } from '../routes/workspace/index.ts'

/** The `about` of each room. */
export const ROOMS: AboutRooms<Routes> = {
  ...captureAbout,
  ...deliveryAbout,
  ...peopleAbout,
  ...workspaceAbout,
  ...servingAbout,
  ...operateAbout,
  ...automationAbout,
  ...sourcesAbout,
}
