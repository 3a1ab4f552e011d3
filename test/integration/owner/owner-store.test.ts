import { describeOwnerProcesses } from './owner-processes.js'

describeOwnerProcesses('sample')
