import type { ReactElement } from 'react'
import { Part } from '../../../parts/detail.tsx'
import { SetUp } from './set-up.tsx'

/** The configuration, for another device or another program. */
export function SetUpTab(): ReactElement {
  return (
    <Part title="Connect another program">
      <SetUp />
    </Part>
  )
}
