import { onStage, type Stage } from '../stage/browser.ts'
import { testSmallPages } from '../stage/small-pages.ts'

let stage: Stage

onStage((made) => {
  ;({ stage } = made)
})

testSmallPages({ theme: 'dark', stageOf: () => stage })
