import { kindsNamed } from '../store-kinds.js'
import { describeUndecided } from './undecided-stores.js'

for (const store of kindsNamed('memory', 'Redis')) describeUndecided(store)
