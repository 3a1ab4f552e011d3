import { NEWEST, NODES, PROMISED } from '../package/nodes.js'
import { describeResets } from './outcomes.js'

describeResets([...PROMISED, NEWEST].filter((major) => !NODES.includes(major)))
