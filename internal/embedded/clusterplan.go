package embedded

import "fmt"

// planClusters returns the configurations of all servers, by cluster. The ports
// of routes and gateways are picked here: each server has to know those of the
// others before it starts, or it forms a group without them.
func planClusters(configs []ClusterConfig, gateways bool) ([][]Config, error) {
	var plan [][]Config
	first := 0
	for _, c := range configs {
		members, err := planCluster(c, first, gateways)
		if err != nil {
			return nil, err
		}
		plan = append(plan, members)
		first += c.Size
	}
	remotes := map[string][]string{}
	for i, members := range plan {
		for _, m := range members {
			if gateways {
				remotes[configs[i].Name] = append(remotes[configs[i].Name], "nats://"+loopback(m.Gateway.Port))
			}
		}
	}
	for _, members := range plan {
		for i := range members {
			members[i].Gateway.Remotes = remotes // a server passes over its own name
		}
	}
	return plan, nil
}

func planCluster(c ClusterConfig, first int, gateways bool) ([]Config, error) {
	if c.Size < 2 {
		return nil, fmt.Errorf("cluster %q has %d servers, and JetStream needs two to form a group", c.Name, c.Size)
	}
	members := make([]Config, c.Size)
	var routes []string
	for i := range members {
		m := c.member(i)
		if c.Each != nil {
			c.Each(first+i, &m)
		}
		if err := m.joinCluster(c.Name, gateways); err != nil {
			return nil, err
		}
		routes = append(routes, "nats://"+loopback(m.Cluster.Port))
		members[i] = m
	}
	for i := range members {
		members[i].Cluster.Routes = routes
	}
	return members, nil
}

// joinCluster gives the server its names and ports in a cluster.
func (c *Config) joinCluster(name string, gateways bool) (err error) {
	c.Cluster.Name = name
	if c.Cluster.Port, err = pickPort(); err != nil {
		return err
	}
	if gateways {
		c.Gateway.Name = name
		c.Gateway.Port, err = pickPort()
	}
	return err
}
