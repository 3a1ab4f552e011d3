import { kindsNamed } from '../store-kinds.js'
import { describeNeverFits } from './never-fits.js'

for (const store of kindsNamed('memory', 'Redis', 'memcached', 'PostgreSQL')) describeNeverFits(store)
