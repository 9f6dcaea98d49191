"""What a worker process is kept from: files, network, other processes, more than its share. Each layer alone."""
