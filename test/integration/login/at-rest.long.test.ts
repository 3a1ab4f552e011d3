import { describeAtRest } from './at-rest.js'

describeAtRest('Redis Cluster', 'MariaDB', 'PostgreSQL')
