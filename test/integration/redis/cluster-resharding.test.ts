import { describeResharding } from './cluster-resharding.js'

describeResharding('redis 6')
