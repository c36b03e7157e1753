import { PLACES } from '../stage/places.ts'
import { aScene } from '../stage/scene.ts'
import { inBothThemes, testWalk } from '../stage/screens.ts'

testWalk({ places: PLACES, scene: aScene, look: inBothThemes })
