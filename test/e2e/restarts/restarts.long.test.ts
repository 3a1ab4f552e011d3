import { describeRestarts } from './describe-restarts.js'

describeRestarts(100, 5)
