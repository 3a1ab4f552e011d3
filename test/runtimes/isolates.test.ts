import { describeIsolates } from './isolates.js'

describeIsolates('workerd')
