import { after, before } from 'node:test'
import { aStage, noBrowser, type Stage } from '../stage/browser.ts'
import { testSmallPages } from '../stage/small-pages.ts'

let stage: Stage

before(async () => {
  if (noBrowser === false) stage = await aStage()
})
after(() => stage?.stop())

testSmallPages(() => stage)
