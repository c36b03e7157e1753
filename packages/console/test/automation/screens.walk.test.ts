import { AUTOMATION_PLACES } from '../stage/places.ts'
import { aScene } from '../stage/scene.ts'
import { inLight, testWalk } from '../stage/screens.ts'

testWalk({ places: AUTOMATION_PLACES, scene: aScene, look: inLight })
