import { describeIsolates } from './isolates.js'

describeIsolates('workerd', { hanging: [50], timeout: '1s' })
